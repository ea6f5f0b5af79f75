with "$matched" as materialized (
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    record_image_ne(row("$row"."quantity"::"pg_catalog"."int4", "$row"."order_id"), row($1::text::"pg_catalog"."int4", "$row"."order_id")) "$differs"
  from "app"."lines" "$row"
  where exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $2::text::"pg_catalog"."int4"
  )
    and ("$row"."quantity" = $3::text::"pg_catalog"."int4")
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  update "app"."lines" "$row"
  set "quantity" = $4::text::"pg_catalog"."int4"
  from "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $5::text::"pg_catalog"."int4" for share
  )
    and ("$row"."quantity" = $6::text::"pg_catalog"."int4")
  returning case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $7::text::"pg_catalog"."int4" for share
  ) then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."order_id")), '$.keyvalue()') then null end
)
select (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."lines" "$row"
    where exists (
      select
      from only "app"."orders" "$parent1"
      where "$parent1"."no" = "$row"."order_id"
        and "$parent1"."tenant_id" = $8::text::"pg_catalog"."int4"
    )
      and ("$row"."quantity" = $9::text::"pg_catalog"."int4")
  ) end
  from "$counted"
)::text matched,
(
  select "$counted"."$count" = 1
    and coalesce(bool_or("$matched"."$differs"), false)
  from "$counted" left join "$matched" on true
  group by "$counted"."$count"
) wanted,
(
  select count(*)
  from "$written"
)::text updated
