with "$matched" as materialized (
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    (exists (
    select
    from only "app"."lines" "$child1"
    where "$child1"."quantity" = "$row"."id"
      and (not exists (
      select
      from (
        select "$child1"."order_id"
      ) "$row"
      where exists (
        select
        from only "app"."orders" "$parent1"
        where "$parent1"."no" = "$row"."order_id"
          and "$parent1"."tenant_id" = $1::text::"pg_catalog"."int4"
      )
    ))
  )) "$entangled", true "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $2::text::"pg_catalog"."int4"
    and ("$row"."id" = $3::text::"pg_catalog"."int8")
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  delete
  from "app"."deals" "$row"
  using "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and not "$matched"."$entangled"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."id" = $5::text::"pg_catalog"."int8")
  returning true
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $6::text, $7::text, $8::text, $9::text, $10::text, $11::text,
    $12::text::text[], $13::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted", "$matched"
  where "$counted"."$count" = 1
    and (not "$matched"."$differs" or exists (
    select
    from "$written"
  ))
)
select (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $14::text::"pg_catalog"."int4"
      and ("$row"."id" = $15::text::"pg_catalog"."int8")
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
)::text updated,
(
  select bool_or("$entangled")
  from "$matched"
) entangled
