"""The table of passes: `name -> "module:Class"`, one line a pass; nothing is imported until a pass is asked for.

ge-opt, `xdsl-opt` (through the universe) and the documentation are driven by this table. A name starts with `ge-` for
passes on `ge`, `ge-task-` for passes on `ge_task`, `convert-` for lowerings.
"""

from __future__ import annotations

from types import MappingProxyType

PASSES: MappingProxyType[str, str] = MappingProxyType(
    {
        "ge-canonicalize": "ge_dialect.transforms.canonicalize.ge_canonicalize:GeCanonicalize",
        "ge-assign-engines": "ge_dialect.transforms.engines.ge_assign_engines:GeAssignEngines",
        "ge-host-exec": "ge_dialect.transforms.host.ge_host_exec:GeHostExec",
        "ge-host-fusion": "ge_dialect.transforms.host.ge_host_fusion:GeHostFusion",
        "ge-partition-dynamic": "ge_dialect.transforms.dynamic.ge_partition_dynamic:GePartitionDynamic",
        "ge-sink-clusters": "ge_dialect.sink_clusters:GeSinkClusters",
        "ge-lower-control-flow": "ge_dialect.transforms.control_flow.ge_lower_control_flow:GeLowerControlFlow",
        "ge-mark-phony": "ge_dialect.transforms.no_task.ge_mark_phony:GeMarkPhony",
        "ge-concat-no-task": "ge_dialect.transforms.no_task.ge_concat_no_task:GeConcatNoTask",
        "ge-pack-no-task": "ge_dialect.transforms.no_task.ge_pack_no_task:GePackNoTask",
        "ge-split-no-task": "ge_dialect.transforms.no_task.ge_split_no_task:GeSplitNoTask",
        "ge-topo-sort": "ge_dialect.transforms.order.ge_topo_sort:GeTopoSort",
        "ge-schedule-order": "ge_dialect.transforms.order.ge_schedule_order:GeScheduleOrder",
        "ge-assign-streams": "ge_dialect.assign_streams:GeAssignStreams",
        "ge-transfer-stream-labels": "ge_dialect.transforms.streams.ge_transfer_stream_labels:GeTransferStreamLabels",
        "ge-mark-cv-parallel": "ge_dialect.transforms.streams.ge_mark_cv_parallel:GeMarkCvParallel",
        "ge-cluster-engines": "ge_dialect.transforms.streams.ge_cluster_engines:GeClusterEngines",
        "ge-stream-mde-group": "ge_dialect.transforms.streams.ge_stream_mde_group:GeStreamMdeGroup",
        "ge-stream-label": "ge_dialect.transforms.streams.ge_stream_label:GeStreamLabel",
        "ge-stream-independent": "ge_dialect.transforms.streams.ge_stream_independent:GeStreamIndependent",
        "ge-stream-dependency": "ge_dialect.transforms.streams.ge_stream_dependency:GeStreamDependency",
        "ge-stream-single": "ge_dialect.transforms.streams.ge_stream_single:GeStreamSingle",
        "ge-stream-node-update": "ge_dialect.transforms.streams.ge_stream_node_update:GeStreamNodeUpdate",
        "ge-stream-parallel-group": "ge_dialect.transforms.streams.ge_stream_parallel_group:GeStreamParallelGroup",
        "ge-stream-all-reduce": "ge_dialect.transforms.streams.ge_stream_all_reduce:GeStreamAllReduce",
        "ge-stream-skipped-engine": "ge_dialect.transforms.streams.ge_stream_skipped_engine:GeStreamSkippedEngine",
        "ge-stream-ineffective": "ge_dialect.transforms.streams.ge_stream_ineffective:GeStreamIneffective",
        "ge-stream-number": "ge_dialect.transforms.streams.ge_stream_number:GeStreamNumber",
        "ge-stream-auto": "ge_dialect.transforms.streams.ge_stream_auto:GeStreamAuto",
        "ge-stream-schedule": "ge_dialect.transforms.streams.ge_stream_schedule:GeStreamSchedule",
        "ge-stream-max-concurrency": "ge_dialect.transforms.streams.ge_stream_max_concurrency:GeStreamMaxConcurrency",
        "ge-stream-jumps": "ge_dialect.transforms.streams.ge_stream_jumps:GeStreamJumps",
        "ge-stream-refresh": "ge_dialect.transforms.streams.ge_stream_refresh:GeStreamRefresh",
        "ge-stream-attached": "ge_dialect.transforms.streams.ge_stream_attached:GeStreamAttached",
        "ge-stream-dynamic": "ge_dialect.transforms.streams.ge_stream_dynamic:GeStreamDynamic",
        "ge-stream-dynamic-refresh": "ge_dialect.transforms.streams.ge_stream_dynamic_refresh:GeStreamDynamicRefresh",
        "ge-stream-dynamic-compact": "ge_dialect.transforms.streams.ge_stream_dynamic_compact:GeStreamDynamicCompact",
        "ge-dynamic-events": "ge_dialect.transforms.streams.ge_dynamic_events:GeDynamicEvents",
        "ge-attached-sync": "ge_dialect.transforms.streams.ge_attached_sync:GeAttachedSync",
        "ge-insert-identity": "ge_dialect.transforms.layout.ge_insert_identity:GeInsertIdentity",
        "ge-plan-memory": "ge_dialect.transforms.memory.ge_plan_memory:GePlanMemory",
        "ge-activate-streams": "ge_dialect.transforms.sync.ge_activate_streams:GeActivateStreams",
        "ge-insert-events": "ge_dialect.transforms.sync.ge_insert_events:GeInsertEvents",
        "ge-optimize-events": "ge_dialect.transforms.sync.ge_optimize_events:GeOptimizeEvents",
        "ge-minimize-events": "ge_dialect.transforms.sync.ge_minimize_events:GeMinimizeEvents",
        "ge-reuse-events": "ge_dialect.transforms.sync.ge_reuse_events:GeReuseEvents",
        "ge-color-events": "ge_dialect.transforms.sync.ge_color_events:GeColorEvents",
        "ge-insert-attached-events": "ge_dialect.transforms.sync.ge_insert_attached_events:GeInsertAttachedEvents",
        "ge-activate-switches": "ge_dialect.transforms.sync.ge_activate_switches:GeActivateSwitches",
        "ge-activate-loops": "ge_dialect.transforms.sync.ge_activate_loops:GeActivateLoops",
        "ge-cover-attached-streams": "ge_dialect.transforms.sync.ge_cover_attached_streams:GeCoverAttachedStreams",
        "ge-insert-sync-nodes": "ge_dialect.transforms.sync.ge_insert_sync_nodes:GeInsertSyncNodes",
        "ge-verify-sync": "ge_dialect.transforms.sync.ge_verify_sync:GeVerifySync",
        "ge-split-streams": "ge_dialect.transforms.split.ge_split_streams:GeSplitStreams",
        "ge-update-active-streams": "ge_dialect.transforms.split.ge_update_active_streams:GeUpdateActiveStreams",
        "ge-default-streams": "ge_dialect.transforms.split.ge_default_streams:GeDefaultStreams",
        "ge-sync-attached": "ge_dialect.sync_attached:GeSyncAttached",
        "ge-verify": "ge_dialect.transforms.verify.ge_verify:GeVerify",
        "convert-ge-to-ge-task": "ge_dialect.lowering.tasks.convert_ge_to_ge_task:ConvertGeToGeTask",
        "ge-pipeline": "ge_dialect.pipeline:GePipeline",
    }
)
