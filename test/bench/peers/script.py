"""The script once more, in Python: asyncio and aiohttp, CSV in and out, order kept.

    python3 test/bench/peers/script.py URL INPUT OUTPUT CONCURRENCY
"""
import asyncio
import csv
import sys
from collections import deque
from urllib.parse import quote

import aiohttp
from yarl import URL

ADDED = [
    "status", "type", "mail_blocklist", "bogon", "intent", "tags", "first_seen", "last_seen",
    "reverse_dns", "abuse_email", "abuse_status", "abuse_verified_at", "asn", "as_name",
    "as_country", "honeypot_observations", "spamtrap_observations", "error",
]


def columns_of(result):
    contact = result.get("abuseContact") or {}
    asn = result.get("asn") or {}
    activity = result.get("observedActivity") or {}
    reverse = (result.get("reverseDns") or {}).get("current") or []
    return [
        "complete", result.get("type"), result.get("serviceMailBlocklist"), result.get("bogon"),
        result.get("intent"), "|".join(result.get("tags") or []), result.get("firstSeen"),
        result.get("lastSeen"), "|".join(entry["entry"] for entry in reverse),
        contact.get("email"), contact.get("status"), contact.get("lastVerification"),
        asn.get("asn"), asn.get("name"), asn.get("countryCode"),
        len((activity.get("honeypotInteractions") or {}).get("observations") or []),
        len((activity.get("spamtrapInteractions") or {}).get("observations") or []), "",
    ]


async def ask(session, base, item):
    for attempt in range(1, 6):
        async with session.get(URL(f"{base}/query/{quote(item, safe='')}", encoded=True)) as answer:
            if answer.status == 200:
                return (await answer.json())["result"]
            if answer.status < 500 or attempt == 5:
                raise RuntimeError(f"HTTP {answer.status}")
        await asyncio.sleep(0.25 * 2**attempt)


async def main(base, source, target, concurrency):
    slots = asyncio.Semaphore(concurrency)
    connector = aiohttp.TCPConnector(limit=concurrency)

    async def enriched(row, item):
        async with slots:
            try:
                return row + columns_of(await ask(session, base, item))
            except Exception as error:
                return row + ["failed", *[""] * (len(ADDED) - 2), str(error)]

    with open(source, newline="") as read, open(target, "w", newline="") as write:
        rows, out = csv.reader(read), csv.writer(write)
        header = next(rows)
        at = header.index("ip")
        out.writerow(header + ADDED)
        async with aiohttp.ClientSession(connector=connector) as session:
            under_way = deque()
            for row in rows:
                under_way.append(asyncio.ensure_future(enriched(row, row[at])))
                if len(under_way) >= 1000:
                    out.writerow(await under_way.popleft())
            while under_way:
                out.writerow(await under_way.popleft())


base, source, target, concurrency = sys.argv[1:]
asyncio.run(main(base, source, target, int(concurrency)))
