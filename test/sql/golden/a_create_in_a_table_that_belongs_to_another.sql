with "$created" as (
  insert into "app"."lines" as "$row" ("order_id", "quantity")
  select case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = ("$sent"."$value" ->> $1::text::int4)::"pg_catalog"."int4"
      and "$parent1"."tenant_id" = $2::text::"pg_catalog"."int4" for share
  ) then ("$sent"."$value" ->> $3::text::int4)::"pg_catalog"."int4" when width_bucket(1::float8, 1, 1, "$sent"."$place"::int4) > 0 then null end,
    ("$sent"."$value" ->> $4::text::int4)::"pg_catalog"."int4"
  from json_array_elements($5::text::json) with ordinality "$sent"("$value", "$place")
  order by "$sent"."$place"
  returning case when exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $6::text::"pg_catalog"."int4" for share
  ) then true when width_bucket(1::float8, 1, 1, pg_catalog.num_nulls("$row"."order_id")) > 0 then null end,
    (
    select row_to_json("$output")
    from (
      select "$row"."id"
    ) "$output"
  )::text "key", null::text "record", null::text "reread"
)
select (
  select json_agg(json_build_array("key", "record", "reread"))
  from "$created"
)::text created,
(
  select case when count(*) = $7::text::int8 then true when power(0::float8, -1 - count(*)) > 0 then null end
  from "$created"
) whole
