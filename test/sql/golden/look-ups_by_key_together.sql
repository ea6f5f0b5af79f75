values ($1::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select case when coalesce(octet_length("$r"."status"), 0)::int8 <= $2::text::int8 then row_to_json("$r")
else 'null' end "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $3::text::"pg_catalog"."int4"
and ("$t"."id" = $4::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($5::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select case when coalesce(octet_length("$r"."status"), 0)::int8 <= $6::text::int8 then row_to_json("$r")
else 'null' end "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $7::text::"pg_catalog"."int4"
and ("$t"."id" = $8::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($9::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select case when coalesce(octet_length("$r"."status"), 0)::int8 <= $10::text::int8 then row_to_json("$r")
else 'null' end "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $11::text::"pg_catalog"."int4"
and ("$t"."id" = $12::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($13::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select case when coalesce(octet_length("$r"."status"), 0)::int8 <= $14::text::int8 then row_to_json("$r")
else 'null' end "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $15::text::"pg_catalog"."int4"
and ("$t"."id" = $16::text::"pg_catalog"."int8")) "$r"
limit 1) "$f"))
