/** An S3 store on loopback that says what a test wants of it, such as no store would. */
import { atEnd } from './cleanup.ts';

export interface LyingStore {
  /** Settings of a Satchel that keeps its bytes there. */
  env: Record<string, string>;
  /** Answers a request; null leaves it to a store that has nothing, takes all and heeds no conditions. */
  answer: (request: Request) => Response | Promise<Response> | null;
  /** Bytes that it could send of the last endless body. */
  sent_bytes: number;
  /** A body of the same bytes over and over, which ends when nobody reads any more. */
  endless(piece: string): ReadableStream<Uint8Array>;
}

export function startLyingStore(): LyingStore {
  const server = Bun.serve({
    port: 0,
    idleTimeout: 255,
    fetch: (request) => store.answer(request) ?? answerAsEmpty(request),
  });
  atEnd(() => server.stop(true));
  const endpoint = encodeURIComponent(`http://127.0.0.1:${server.port}`);
  const store: LyingStore = {
    env: {
      SATCHEL_OBJECT_STORE: `s3://bucket?endpoint=${endpoint}&style=path`,
      SATCHEL_S3_ACCESS_KEY_ID: 'id',
      SATCHEL_S3_SECRET_ACCESS_KEY: 'secret',
    },
    answer: () => null,
    sent_bytes: 0,
    endless(piece) {
      const bytes = new TextEncoder().encode(piece.repeat(Math.ceil(65_536 / piece.length)));
      store.sent_bytes = 0;
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            controller.enqueue(bytes);
            store.sent_bytes += bytes.byteLength;
            await Bun.sleep(0);
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
  return store;
}

function answerAsEmpty({ method, url }: Request): Response {
  if (url.includes('list-type')) return new Response('<ListBucketResult></ListBucketResult>');
  if (url.includes('?uploads'))
    return new Response('<ListMultipartUploadsResult></ListMultipartUploadsResult>');
  if (method === 'GET') return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 });
  return new Response(null, { status: method === 'HEAD' ? 404 : 200, headers: { ETag: '"1"' } });
}
