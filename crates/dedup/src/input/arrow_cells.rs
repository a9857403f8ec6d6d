//! The value of a cell of Arrow.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Map, Value};

/// Returns the value of a cell. Bytes are a text; times without a reading of their own are null.
pub(super) fn value(array: &ArrayRef, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(at).into()
        };
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(at).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at).into(),
        DataType::Utf8View => array.as_string_view().value(at).into(),
        DataType::Binary => lossy(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => lossy(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => lossy(array.as_binary_view().value(at)),
        DataType::FixedSizeBinary(_) => lossy(array.as_fixed_size_binary().value(at)),
        DataType::Boolean => array.as_boolean().value(at).into(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => f64::from(array.as_primitive::<Float16Type>().value(at)).into(),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Date32 => time(i64::from(array.as_primitive::<Date32Type>().value(at)), 86_400_000_000_000),
        DataType::Date64 => time(array.as_primitive::<Date64Type>().value(at), 1_000_000),
        DataType::Timestamp(unit, _) => timestamp(array, *unit, at),
        DataType::Decimal128(_, scale) => {
            let digits = array.as_primitive::<arrow_array::types::Decimal128Type>().value(at);
            decimal(digits, *scale).into()
        }
        DataType::List(_) => list(&array.as_list::<i32>().value(at)),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(at)),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(at)),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let of = |(field, column): (&arrow_schema::FieldRef, &ArrayRef)| (field.name().clone(), value(column, at));
            Value::Object(fields.iter().zip(columns).map(of).collect::<Map<_, _>>())
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            value(dictionary.values(), dictionary.normalized_keys()[at])
        }
        _ => Value::Null,
    }
}

fn lossy(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

fn list(elements: &ArrayRef) -> Value {
    (0..elements.len()).map(|at| value(elements, at)).collect()
}

fn timestamp(array: &ArrayRef, unit: TimeUnit, at: usize) -> Value {
    use arrow_array::types::{
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    };
    match unit {
        TimeUnit::Second => time(array.as_primitive::<TimestampSecondType>().value(at), 1_000_000_000),
        TimeUnit::Millisecond => time(array.as_primitive::<TimestampMillisecondType>().value(at), 1_000_000),
        TimeUnit::Microsecond => time(array.as_primitive::<TimestampMicrosecondType>().value(at), 1_000),
        TimeUnit::Nanosecond => time(array.as_primitive::<TimestampNanosecondType>().value(at), 1),
    }
}

/// Returns a time of so many ticks, each of so many nanoseconds, since 1970.
fn time(ticks: i64, nanoseconds: i128) -> Value {
    let time = jiff::Timestamp::from_nanosecond(i128::from(ticks) * nanoseconds);
    time.map_or(Value::Null, |time| time.to_string().into())
}

fn decimal(digits: i128, scale: i8) -> String {
    let Ok(scale) = usize::try_from(scale) else { return digits.to_string() };
    let sign = if digits < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}
