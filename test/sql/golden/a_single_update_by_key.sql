with "$matched" as materialized (
  select record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($1::text::"pg_catalog"."numeric", $2::text::text[], $3::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."id" = $5::text::"pg_catalog"."int8" and "$row"."status" is null)
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $6::text::"pg_catalog"."numeric", "tags" = $7::text::text[],
    "day" = $8::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
    and ("$row"."id" = $10::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date", "$row"."tenant_id"))
  returning case when "$row"."tenant_id" = $14::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$updated"
)
select (
  select "$differs"
  from "$matched"
) wanted,
(
  select "$updated"
  from "$written"
) updated,
(num_nulls($15::text::"pg_catalog"."numeric") + num_nulls($16::text::text[]) + num_nulls($17::text::"pg_catalog"."date")) checked
