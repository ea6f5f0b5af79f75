select 1
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4"
and ("$t"."id" = $2::text::"pg_catalog"."int8"
and "$t"."status" is null)
limit 2 for update
