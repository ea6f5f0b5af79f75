select count(*)::text matched,
coalesce(bool_or(record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($1::text::"pg_catalog"."numeric", $2::text::text[], $3::text::"pg_catalog"."date", "$row"."tenant_id"))), false) wanted,
(num_nulls($4::text::"pg_catalog"."numeric") + num_nulls($5::text::text[]) + num_nulls($6::text::"pg_catalog"."date")) checked
from "app"."deals" "$row"
where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
  and ("$row"."id" = $8::text::"pg_catalog"."int8" and "$row"."status" is null)
