insert into rowgate.audit (
  request_id, token_id, tenant, schema_name, table_name, operation,
    filter_fields, fields, matched, updated
)
select $1::text,
$2::text,
$3::text,
$4::text,
$5::text,
$6::text,
$7::text::text[],
$8::text::text[],
$9::text::int8,
$10::text::int8
