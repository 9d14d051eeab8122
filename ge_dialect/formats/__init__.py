"""Storage formats and element types of GE tensors: data and formulas, no IR.

Nothing here imports anything else of this project, so the package is usable on its own.

* `format_table`: names of the formats, their letters, which are public, which internal.
* `cube`: M0, C0 and N0 of each element type; `PLATFORM` and `NO_PLATFORM` are two tables, `cube_table` reads another.
* `storage_shape.storage_shape(shape, origin_format, storage_format, dtype)`: the shape in memory.
* `axis_maps.aligned_shape(...)` and `.transfer_dims(...)`: the unit in which each origin axis can be cut, and which
  storage axes it becomes. They know fewer formats than `storage_shape`, as in the reference.
* `reshape_type.reshape_type_mask(...)` and `.expand_dims(...)`: shapes with fewer axes than their format has letters.
* `transform.transform(array, source, target, origin_shape=...)`: the data itself, from any format to any other;
  `to_storage` and `from_storage` are its halves, `Layout` what they are told. Known are the public formats, NC1HWC0
  (and _C04), NDC1HWC0, FRACTAL_Z (with groups and _C04), FRACTAL_Z_3D (with groups), FRACTAL_Z_3D_TRANSPOSE,
  FRACTAL_ZN_LSTM and the FRACTAL_NZ family. C1HWC0, C1HWNCoC0, FRACTAL_Z_WINO and NYUV_A have shapes, but how their
  data lies is not documented: they raise FormatError.
* `dtypes`: element types. `errors`: the root of the typed errors.

Formats are their names, such as `"NC1HWC0"`; `"FRACTAL_Z:8"` carries a number of groups.

    >>> from ge_dialect.formats.dtypes import dtype_by_name
    >>> from ge_dialect.formats.storage_shape import storage_shape
    >>> storage_shape([1, 32, 16, 16], "NCHW", "NC1HWC0", dtype_by_name("FLOAT16"))
    (1, 2, 16, 16, 16)
"""
