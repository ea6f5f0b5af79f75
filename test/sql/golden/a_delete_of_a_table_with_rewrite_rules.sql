delete
from "app"."deals" "$row"
where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
  and ("$row"."id" = $2::text::"pg_catalog"."int8")
  and true
  and (
  select count(*)
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
      and ("$row"."id" = $4::text::"pg_catalog"."int8")
    limit $5::text::int8 + 1
  ) "$matched"
) <= $6::text::int8
