//! Columns of texts from pyarrow, polars and pandas, through the Arrow C data interface: texts are not copied.
//!
//! The interface passes C structures in capsules of Python. Two calls that take them over are all `unsafe` code here.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, LargeStringArray, StringArray, StringViewArray, make_array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// One array of texts.
pub(crate) enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Texts {
    /// Takes an array over, unless it holds something else.
    fn new(array: &ArrayRef) -> Option<Self> {
        let (small, large) = (array.as_string_opt().cloned(), array.as_string_opt().cloned());
        let view = || array.as_string_view_opt().cloned();
        small.map(Texts::Small).or(large.map(Texts::Large)).or_else(|| view().map(Texts::View))
    }

    /// Returns the texts in order, `None` for a null.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
        match self {
            Texts::Small(array) => Box::new(array.iter()),
            Texts::Large(array) => Box::new(array.iter()),
            Texts::View(array) => Box::new(array.iter()),
        }
    }
}

/// Returns the arrays of a column; `None` if the object is no column of texts.
///
/// # Errors
/// If the column breaks off.
pub(crate) fn texts(column: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Texts>>> {
    // An export that fails, such as that of a pandas column of mixed types, is read value by value instead.
    let arrays = match (export(column, "__arrow_c_stream__"), export(column, "__arrow_c_array__")) {
        (Some(stream), _) => stream_arrays(&stream)?,
        (None, Some(array)) => one_array(&array)?,
        (None, None) => return Ok(None),
    };
    Ok(arrays.iter().map(Texts::new).collect())
}

fn export<'py>(column: &Bound<'py, PyAny>, method: &str) -> Option<Bound<'py, PyAny>> {
    column.getattr(method).ok()?.call0().ok()
}

fn stream_arrays(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: by its name, the capsule holds a stream of the C data interface. `from_raw` leaves a released stream in its
    // place, so that nobody reads it twice.
    let reader = unsafe { ArrayStreamReader::from_raw(stream) }.map_err(broken)?;
    reader.collect::<Result<_, _>>().map_err(broken)
}

fn one_array(capsules: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let capsules = capsules.cast::<PyTuple>()?;
    let schema = pointer::<FFI_ArrowSchema>(&capsules.get_item(0)?, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&capsules.get_item(1)?, c"arrow_array")?;
    // SAFETY: by their names, the capsules hold an array of the C data interface and its schema. `from_raw` leaves a
    // released array in its place; the schema is only read.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(broken)?;
    Ok(vec![make_array(data)])
}

/// Returns what a capsule of this name points to.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<*mut T> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr().cast())
}

fn broken(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the Arrow column cannot be read: {error}"))
}
