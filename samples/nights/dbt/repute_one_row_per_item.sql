-- tests/generic/repute_one_row_per_item.sql: returns the rows that are wrong
{% test repute_one_row_per_item(model) %}
select rep_kind, rep_item, count(*) as answers
from {{ model }}
group by rep_kind, rep_item
having count(*) > 1
{% endtest %}
