/**
 * Baseline of mail by API: answers each request and hands its mail to a nodemailer pool. It keeps nothing on disk, as
 * listmonk's `/api/tx` does not. `bun mail-baseline.ts PORT`.
 */
import { createTransport } from 'nodemailer';

interface Asked {
  to: string;
  subject: string;
  body_html: string;
  body_text: string;
}

const [port = ''] = process.argv.slice(2);
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(port),
  pool: true,
  maxConnections: 10,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
});
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { to, subject, body_html: html, body_text: text } = (await request.json()) as Asked;
    void transport.sendMail({ from: 'shop@bench.example.com', to, subject, html, text });
    return Response.json({ ok: true }, { status: 202 });
  },
});
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
