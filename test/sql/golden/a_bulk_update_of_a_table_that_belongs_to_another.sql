with "$written" as (
  update "app"."lines" "$row"
  set "quantity" = $1::text::"pg_catalog"."int4"
  where exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $2::text::"pg_catalog"."int4"
  )
    and exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $3::text::"pg_catalog"."int4" for share
  )
    and ("$row"."quantity" = $4::text::"pg_catalog"."int4")
    and record_image_ne(row("$row"."quantity"::"pg_catalog"."int4", "$row"."order_id"), row($5::text::"pg_catalog"."int4", "$row"."order_id"))
  returning case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $6::text::"pg_catalog"."int4" for share
  ) then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."order_id")), '$.keyvalue()') then null end
)
select (
  select count(*)
  from "$written"
)::text updated
