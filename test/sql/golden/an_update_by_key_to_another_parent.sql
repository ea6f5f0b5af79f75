with "$matched" as materialized (
  select record_image_ne(row("$row"."order_id"::"pg_catalog"."int4", "$row"."order_id"), row($1::text::"pg_catalog"."int4", "$row"."order_id")) "$differs"
  from "app"."lines" "$row"
  where exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $2::text::"pg_catalog"."int4"
  )
    and ("$row"."id" = $3::text::"pg_catalog"."int8")
),
"$written" as (
  update "app"."lines" "$row"
  set "order_id" = case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = $4::text::"pg_catalog"."int4"
      and "$parent1"."tenant_id" = $5::text::"pg_catalog"."int4" for share
  ) then $6::text::"pg_catalog"."int4" when width_bucket(1::float8, 1, 1, pg_catalog.pg_backend_pid()) > 0 then null end
  where exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $7::text::"pg_catalog"."int4" for share
  )
    and ("$row"."id" = $8::text::"pg_catalog"."int8")
    and record_image_ne(row("$row"."order_id"::"pg_catalog"."int4", "$row"."order_id"), row($9::text::"pg_catalog"."int4", "$row"."order_id"))
  returning case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $10::text::"pg_catalog"."int4" for share
  ) then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."order_id")), '$.keyvalue()') then null end "$updated"
)
select (
  select "$differs"
  from "$matched"
) wanted,
(
  select "$updated"
  from "$written"
) updated
