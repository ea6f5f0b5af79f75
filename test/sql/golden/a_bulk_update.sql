with "$written" as (
  update "app"."deals" "$row"
  set "amount" = $1::text::"pg_catalog"."numeric", "tags" = $2::text::text[],
    "day" = $3::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."id" = $5::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($6::text::"pg_catalog"."numeric", $7::text::text[], $8::text::"pg_catalog"."date", "$row"."tenant_id"))
  returning case when "$row"."tenant_id" = $9::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
)
select (
  select count(*)
  from "$written"
)::text updated,
(num_nulls($10::text::"pg_catalog"."numeric") + num_nulls($11::text::text[]) + num_nulls($12::text::"pg_catalog"."date")) checked
