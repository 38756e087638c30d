"""Nightly enrichment with repute, for Airflow 3.

A run that stops early (exit code 75) fails its task; the retry continues it. Exit code 3 means that the
output is complete but has failed rows: the next task asks for those again.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

FOLDER = "/var/lib/repute"

with DAG(
    dag_id="repute",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={
        "cwd": FOLDER,
        "append_env": True,
        "env": {"REPUTE_INTEL_URL": "https://intel.example/beta"},
        "retries": 3,
        "retry_delay": timedelta(minutes=30),
    },
) as dag:
    plan = BashOperator(
        task_id="plan",
        bash_command="repute plan dump.csv --cache cache --json",
    )
    enrich = BashOperator(
        task_id="enrich",
        bash_command=(
            "repute enrich dump.csv -o enriched-{{ ds }}.csv --api-key-file key --cache cache"
            " --resume --deadline 2h --quiet --json || [ $? -eq 3 ]"
        ),
    )
    fill = BashOperator(
        task_id="fill",
        bash_command=(
            "repute retry enriched-{{ ds }}.csv -o complete-{{ ds }}.csv --api-key-file key"
            " --cache cache --resume --quiet --json || [ $? -eq 3 ]"
        ),
    )
    verify = BashOperator(
        task_id="verify",
        bash_command="repute verify complete-{{ ds }}.csv",
    )
    plan >> enrich >> fill >> verify
