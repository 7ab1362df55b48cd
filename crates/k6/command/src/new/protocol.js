import http from 'k6/http';
import { check, group } from 'k6';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    // Iterations begin at this rate, however slow the responses are.
    browse: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '30s',
      preAllocatedVUs: 20,
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
{{ CLOUD }}};

// Runs once before the load; all virtual users are given what it returns.
export function setup() {
  const response = http.get(`${BASE}/`);
  if (response.status !== 200) {
    throw new Error(`${BASE} answers with status ${response.status}`);
  }
  return { startedAt: Date.now() };
}

export default function () {
  group('read', () => {
    const response = http.get(`${BASE}/`);
    check(response, { 'the status is 200': (r) => r.status === 200 });
  });
  group('write', () => {
    const body = JSON.stringify({ user: __VU, iteration: __ITER });
    const response = http.post(`${BASE}/`, body, {
      headers: { 'Content-Type': 'application/json' },
    });
    check(response, { 'it is accepted': (r) => r.status < 300 });
  });
}

// Runs once behind the load.
export function teardown(data) {
  console.log(`the test took ${(Date.now() - data.startedAt) / 1000} s`);
}
