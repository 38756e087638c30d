-- models/repute/repute_newest.sql
select *
from (
  select
    enriched.*,
    row_number() over (
      partition by rep_kind, rep_item
      order by rep_looked_up_at desc, rep_run_id, rep_row
    ) as newest
  from {{ source('repute', 'enriched') }} as enriched
  where rep_verdict is not null
) as answers
where newest = 1
