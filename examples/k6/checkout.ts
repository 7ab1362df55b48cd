// Two kinds of visitors of a shop: some buy, others only look around.
//
//   loadline serve &
//   loadline k6 run examples/k6/checkout.ts
//
// The test server answers what its query asks for, so that the script needs no shop. Put the
// address of a real one into BASE_URL: `-e BASE_URL=http://shop.test`.

import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';
import type { Options } from 'k6/options';

interface Basket {
  items: number;
  total: { value: number; currency: string };
}

const BASE: string = __ENV.BASE_URL || 'http://127.0.0.1:8080';

const orderTime = new Trend('order_time', true);

export const options: Options = {
  scenarios: {
    buyers: {
      executor: 'ramping-vus',
      exec: 'buy',
      startVUs: 1,
      stages: [
        { duration: '3s', target: 20 },
        { duration: '5s', target: 20 },
        { duration: '2s', target: 0 },
      ],
    },
    visitors: {
      executor: 'constant-arrival-rate',
      exec: 'look',
      rate: 200,
      duration: '10s',
      preAllocatedVUs: 20,
    },
  },
  thresholds: {
    checks: ['rate>0.99'],
    http_req_failed: ['rate<0.01'],
    'http_req_duration{scenario:visitors}': ['p(95)<250'],
    order_time: ['p(95)<500'],
  },
};

/** A URL of the test server that answers with this JSON, and other options of its own. */
function page(path: string, answer: object, others: string = ''): string {
  return `${BASE}${path}?json=${encodeURIComponent(JSON.stringify(answer))}${others}`;
}

/** Logs in, fills a basket and orders it. */
export function buy(): void {
  group('login', () => {
    const url = page('/login', { user: 'ada' }, '&set-cookie=session%3D1');
    const res = http.post(url, { user: 'ada', password: 'secret' }, { tags: { name: 'login' } });
    check(res, { 'logged in': (r) => r.status === 200 && r.json('user') === 'ada' });
  });

  group('order', () => {
    const basket: Basket = { items: 2, total: { value: 42, currency: 'EUR' } };
    const res = http.get(page('/basket', basket), { tags: { name: 'basket' } });
    check(res, {
      'the session is kept': (r) => r.request.headers['Cookie'] !== undefined,
      'the total is right': (r) => r.json('total.value') === 42,
    });

    const order = JSON.stringify({ items: res.json('items') });
    const headers = { 'Content-Type': 'application/json' };
    const url = page('/order', { id: 7 }, '&status=201');
    const ordered = http.post(url, order, { headers, tags: { name: 'order' } });
    check(ordered, { ordered: (r) => r.status === 201 });
    orderTime.add(ordered.timings.duration, { currency: basket.total.currency });
  });

  sleep(0.2);
}

/** Looks at one page. */
export function look(): void {
  http.get(`${BASE}/products?size=2000`, { tags: { name: 'products' } });
}
