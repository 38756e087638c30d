-- models/repute/repute_newest.sql: one row per item, from the newest run that answered
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['rep_kind', 'rep_item']) }}

select *
from (
  select
    enriched.*,
    row_number() over (
      partition by rep_kind, rep_item
      order by rep_run_id desc, rep_row desc
    ) as newest
  from {{ source('repute', 'enriched') }} as enriched
  where rep_verdict is not null
  {% if is_incremental() %}
    -- Rows that were published since, whether their answer is new or from the cache.
    and rep_loaded_at > (select max(rep_loaded_at) from {{ this }})
  {% endif %}
) as answers
where newest = 1
