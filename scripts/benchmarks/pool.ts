/** Baseline of the drain: a bare nodemailer pool in one process, with or without DKIM. `bun pool.ts PORT COUNT [dkim]`. */
import { generateKeyPairSync } from 'node:crypto';
import { createTransport } from 'nodemailer';

const [port = '', count = '0', dkim] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(port),
  pool: true,
  maxConnections: 10,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
  ...(dkim ? { dkim: { domainName: 'bench.example.com', keySelector: 's', privateKey } } : {}),
});
const html = '<p>Hello there, your order 1234567 is on its way.</p>'.repeat(10);
const text = 'Hello there, your order 1234567 is on its way.\n'.repeat(10);
const sends = Array.from({ length: Number(count) }, (_, n) =>
  transport.sendMail({
    from: 'shop@bench.example.com',
    to: `user${n}@example.org`,
    subject: `Order ${n}`,
    html,
    text,
  }),
);
await Promise.all(sends);
transport.close();
process.stdout.write('done\n');
