values ($1::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select row_to_json("$r") "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $2::text::"pg_catalog"."int4"
and ("$t"."id" = $3::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($4::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select row_to_json("$r") "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $5::text::"pg_catalog"."int4"
and ("$t"."id" = $6::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($7::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select row_to_json("$r") "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $8::text::"pg_catalog"."int4"
and ("$t"."id" = $9::text::"pg_catalog"."int8")) "$r"
limit 1) "$f")), ($10::text, (select case when pg_column_size("$j") <= 65540 then "$j"
else 'null' end
from (select row_to_json("$r") "$j"
from (select "$t"."id", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $11::text::"pg_catalog"."int4"
and ("$t"."id" = $12::text::"pg_catalog"."int8")) "$r"
limit 1) "$f"))
