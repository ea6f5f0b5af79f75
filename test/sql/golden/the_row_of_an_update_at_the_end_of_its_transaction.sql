select "$found"."$record" record,
"$found"."$tag" tag
from (
  select case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $1::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $2::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $3::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $4::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($5::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and exists (
    select
    from json_array_elements($7::text::json) with ordinality "$key"("$value", "$place")
    where "$row"."id" = ("$key"."$value" ->> $8::text::int4)::"pg_catalog"."int8"
  )
  limit 1
) "$found"
