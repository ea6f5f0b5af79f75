with "$locked" as materialized (
  select 1
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and ("$row"."id" = $2::text::"pg_catalog"."int8" and "$row"."status" is null)
  limit 2 for update
)
select (
  select count(*)
  from "$locked"
)::text locked
