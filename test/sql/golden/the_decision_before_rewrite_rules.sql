select count(*)::text matched,
coalesce(bool_or(record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($1::text::"pg_catalog"."numeric", $2::text::text[], $3::text::"pg_catalog"."date", "$row"."tenant_id"))), false) wanted,
(json_agg(json_build_array("$row"."id"::text)) filter (where record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($4::text::"pg_catalog"."numeric", $5::text::text[], $6::text::"pg_catalog"."date", "$row"."tenant_id"))))::text keys,
(num_nulls($7::text::"pg_catalog"."numeric") + num_nulls($8::text::text[]) + num_nulls($9::text::"pg_catalog"."date")) checked
from "app"."deals" "$row"
where "$row"."tenant_id" = $10::text::"pg_catalog"."int4"
  and ("$row"."id" = $11::text::"pg_catalog"."int8" and "$row"."status" is null)
