/** The plain http port's answers beside built-in TLS: the authority's challenge, and redirects. */
import { Listener } from '../../platform/http/listener.ts';

const CHALLENGE_PATH = '/.well-known/acme-challenge/';
/** Decision: when to ask again for what has no certificate yet. */
const RETRY_AFTER_S = 60;

interface PlainPortDeps {
  host: string;
  port: number;
  /** In lower case; the first one is where those go that asked for none of them. */
  names: readonly string[];
  /** Its host may be one of the names, or another one. */
  public_url: string;
  https_port: number;
  /** The authority is to find these texts, by token. */
  challenges: ReadonlyMap<string, string>;
  /** Why there is no https yet, in a sentence; null where there is. */
  explainWaiting(): string | null;
}

export function createPlainPort(deps: PlainPortDeps): Listener {
  return new Listener({
    host: deps.host,
    port: deps.port,
    settings: 'Choose another with SATCHEL_TLS_HTTP_PORT or --tls-http-port, and have port 80 led to it.',
    fetch: (request) => answerPlain(request, deps),
  });
}

/** RFC 8555 8.3 for the authority; else 308 to https at our name, or 503 until there is a certificate. */
function answerPlain(request: Request, deps: PlainPortDeps): Response {
  // Without a usable Host there is no URL, only a target.
  const target = URL.canParse(request.url) ? new URL(request.url) : null;
  const path = target?.pathname ?? '/';
  if (path.startsWith(CHALLENGE_PATH)) {
    const told = deps.challenges.get(path.slice(CHALLENGE_PATH.length));
    return told === undefined ? say(404, 'No certificate is being asked for by this token.') : say(200, told);
  }
  const waiting = deps.explainWaiting();
  if (waiting !== null) return say(503, waiting, { 'Retry-After': String(RETRY_AFTER_S) });
  const location = `https://${authorityFor(request.headers.get('host') ?? '', deps)}${path}${target?.search ?? ''}`;
  return say(308, `This is served by https alone: ${location}`, { Location: location });
}

/** The name that was asked for if it is ours, else our first one; with the port unless it is 443. */
function authorityFor(host: string, { names, public_url, https_port }: PlainPortDeps): string {
  const asked = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  const name = names.find((each) => each === asked) ?? names[0];
  const front = new URL(public_url);
  // Another port may lead to ours, as the public URL tells.
  const port = names.includes(front.hostname) ? front.port : String(https_port);
  return port === '' || port === '443' ? `${name}` : `${name}:${port}`;
}

function say(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      ...headers,
    },
  });
}
