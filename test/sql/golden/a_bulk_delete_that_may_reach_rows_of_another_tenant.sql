with "$counted" as materialized (
  select count(*) "$count", bool_or("$found") "$entangled"
  from (
    select (exists (
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
    )) "$found"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $2::text::"pg_catalog"."int4"
      and ("$row"."id" = $3::text::"pg_catalog"."int8")
    limit $4::text::int8 + 1
  ) "$matched"
),
"$written" as (
  delete
  from "app"."deals" "$row"
  using "$counted"
  where "$row"."tenant_id" = $5::text::"pg_catalog"."int4"
    and ("$row"."id" = $6::text::"pg_catalog"."int8")
    and true
    and "$counted"."$count" <= $7::text::int8
    and "$counted"."$entangled" is not true
  returning true
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $8::text, $9::text, $10::text, $11::text, $12::text,
    $13::text, $14::text::text[], $15::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted"
  where "$counted"."$count" <= $16::text::int8
    and "$counted"."$entangled" is not true
)
select (
  select count(*)
  from "$written"
)::text updated,
(
  select case when "$count" > $17::text::int8 then (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $18::text::"pg_catalog"."int4"
      and ("$row"."id" = $19::text::"pg_catalog"."int8")
  ) end
  from "$counted"
)::text exceeding,
(
  select "$entangled"
  from "$counted"
) entangled
