import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 5,
  duration: '10s',
{{ CLOUD }}};

// Each virtual user calls it again and again.
export default function () {
  const response = http.get('http://127.0.0.1:8080/');
  check(response, { 'the status is 200': (r) => r.status === 200 });
  sleep(1);
}
