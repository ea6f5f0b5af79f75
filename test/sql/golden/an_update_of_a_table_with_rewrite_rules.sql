update "app"."deals" "$row"
set "amount" = $1::text::"pg_catalog"."numeric",
"tags" = $2::text::text[],
"day" = $3::text::"pg_catalog"."date"
where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
  and ("$row"."id" = $5::text::"pg_catalog"."int8" and "$row"."status" is null)
  and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($6::text::"pg_catalog"."numeric", $7::text::text[], $8::text::"pg_catalog"."date", "$row"."tenant_id"))
  and (
  select count(*)
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
      and ("$row"."id" = $10::text::"pg_catalog"."int8" and "$row"."status" is null)
    limit $11::text::int8 + 1
  ) "$matched"
) <= $12::text::int8
