//! The columns of a table of pages: for Parquet, and for the card of a data set.

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::columns::TextColumns;

const SCHEMA: &str = "
message page {
    REQUIRED BYTE_ARRAY url (STRING);
    OPTIONAL BYTE_ARRAY id (STRING);
    RECORD_ID
    OPTIONAL BYTE_ARRAY file (STRING);
    OPTIONAL INT64 line;
    OPTIONAL BYTE_ARRAY final_url (STRING);
    OPTIONAL INT64 fetched_at (TIMESTAMP(MILLIS,true));
    OPTIONAL INT32 status;
    OPTIONAL BYTE_ARRAY type (STRING);
    OPTIONAL BYTE_ARRAY charset (STRING);
    OPTIONAL BYTE_ARRAY charset_declared (STRING);
    OPTIONAL BYTE_ARRAY lang (STRING);
    OPTIONAL BYTE_ARRAY lang_detected (STRING);
    OPTIONAL DOUBLE lang_confidence;
    OPTIONAL BYTE_ARRAY title (STRING);
    OPTIONAL BYTE_ARRAY license (STRING);
    REQUIRED group robots (LIST) {
        REPEATED group list {
            REQUIRED BYTE_ARRAY element (STRING);
        }
    }
    REQUIRED BYTE_ARRAY preferences (STRING);
    OPTIONAL BYTE_ARRAY text (STRING);
    TEXTS
    REQUIRED BYTE_ARRAY outcome (STRING);
    OPTIONAL BYTE_ARRAY duplicate_of (STRING);
    OPTIONAL DOUBLE score;
    OPTIONAL BYTE_ARRAY detector (STRING);
    OPTIONAL BYTE_ARRAY decided_by (STRING);
    OPTIONAL BYTE_ARRAY cluster (STRING);
    OPTIONAL INT64 copies;
    OPTIONAL INT64 copy_hosts;
    OPTIONAL INT64 first_seen (TIMESTAMP(MILLIS,true));
    OPTIONAL BYTE_ARRAY digest (STRING);
    OPTIONAL BYTE_ARRAY text_digest (STRING);
    OPTIONAL INT64 bytes;
    REQUIRED BOOLEAN truncated;
    OPTIONAL group provenance {
        OPTIONAL BYTE_ARRAY who (STRING);
        OPTIONAL BYTE_ARRAY who_from (STRING);
        OPTIONAL BYTE_ARRAY when (STRING);
        OPTIONAL BYTE_ARRAY when_from (STRING);
        OPTIONAL BYTE_ARRAY where (STRING);
        OPTIONAL BYTE_ARRAY why (STRING);
        OPTIONAL BYTE_ARRAY why_from (STRING);
        OPTIONAL BYTE_ARRAY how (STRING);
        OPTIONAL BYTE_ARRAY markup (STRING);
    }
    OPTIONAL BYTE_ARRAY warc_file (STRING);
    OPTIONAL INT64 warc_offset;
    OPTIONAL BYTE_ARRAY columns (STRING);
}";

/// Returns the schema with these columns of text.
pub(super) fn of(columns: TextColumns) -> Result<Type, ParquetError> {
    let record_id = if columns.record_id { "OPTIONAL BYTE_ARRAY record_id (STRING);" } else { "" };
    parse_message_type(&SCHEMA.replace("TEXTS", &texts(columns)).replace("RECORD_ID", record_id))
}

/// Returns the optional columns of text in the order of the row.
fn texts(columns: TextColumns) -> String {
    let names = [(columns.has_full_text(), "full_text"), (columns.markdown, "markdown"), (columns.html, "html")];
    let names = names.into_iter().filter(|(is_wanted, _)| *is_wanted);
    names.map(|(_, name)| format!("OPTIONAL BYTE_ARRAY {name} (STRING);\n    ")).collect()
}

/// Returns the columns as the features of a data set in YAML, by the names of `datasets`.
pub(super) fn features(columns: TextColumns) -> Result<String, ParquetError> {
    Ok(of(columns)?.get_fields().iter().map(|field| feature(field, "  ")).collect())
}

fn feature(field: &Type, indent: &str) -> String {
    let name = field.name();
    let of = match field {
        Type::PrimitiveType { .. } => format!("dtype: {}", data_type(field)),
        Type::GroupType { .. } if field.get_basic_info().converted_type() == ConvertedType::LIST => {
            "list: string".to_owned()
        }
        Type::GroupType { fields, .. } => {
            let deeper = format!("{indent}  ");
            let fields: String = fields.iter().map(|field| feature(field, &deeper)).collect();
            return format!("{indent}- name: {name}\n{indent}  struct:\n{fields}");
        }
    };
    format!("{indent}- name: {name}\n{indent}  {of}\n")
}

fn data_type(field: &Type) -> &'static str {
    let is_time = matches!(field.get_basic_info().logical_type_ref(), Some(LogicalType::Timestamp { .. }));
    match field.get_physical_type() {
        PhysicalType::INT64 if is_time => "timestamp[ms, tz=UTC]",
        PhysicalType::INT64 => "int64",
        PhysicalType::INT32 => "int32",
        PhysicalType::DOUBLE => "float64",
        PhysicalType::BOOLEAN => "bool",
        _ => "string",
    }
}
