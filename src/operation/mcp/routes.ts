/** `POST /mcp`: the Model Context Protocol by HTTP, with an access token. */
import { AppError, forbidden } from '../../errors.ts';
import { failureMessage } from '../../platform/http/answers.ts';
import { parseJsonObject, readSmallBody } from '../../platform/http/body.ts';
import { bearerOf, type Dialect, foreignRoute, tokenOf } from '../../platform/http/foreign.ts';
import { isLoopback } from '../../platform/http/hosts.ts';
import type { Exchange, Route } from '../../platform/http/routes.ts';
import { createTools, type Tool, toolsFor, useTool } from './tools.ts';

/** Decision: a message is a call with a filter, or a template. */
const MAX_MESSAGE_BYTES = 256 * 1024;

/** Codes of JSON-RPC. */
const CODES: Readonly<Record<number, number>> = { 400: -32_600, 500: -32_603 };
const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  405: { Allow: 'POST' },
};

const DIALECT: Dialect = {
  prefix: '/mcp',
  fail(error) {
    const { status } = error;
    const failure = { code: CODES[status] ?? -32_000, message: failureMessage(error) };
    return Response.json(
      { jsonrpc: '2.0', id: null, error: failure },
      { status, headers: HEADERS[status] ?? {} },
    );
  },
};

/** `routes` are those that tools ask, and read at the first request, when the list is complete. */
export function mcpRoutes(routes: () => readonly Route[]): Route[] {
  let tools: Tool[] | undefined;
  const who = tokenOf(bearerOf, []);
  const route = foreignRoute({
    dialect: DIALECT,
    method: 'POST',
    path: '',
    tag: 'MCP',
    summary: 'Tools for an assistant',
    who,
    handle: () => {},
  });
  const run = async (exchange: Exchange): Promise<Response> => {
    const { ctx, deps } = exchange;
    refuseOtherSites(exchange);
    const { caller, takeRate } = who.accept(exchange);
    takeRate();
    const message = await readMessage(ctx.request);
    tools ??= createTools(routes());
    const { request_id, ip, user_agent } = ctx;
    const authorization = ctx.request.headers.get('authorization');
    const asker = { deps, authorization, request_id, ip, user_agent };
    const { answerHttp } = await import('./protocol.ts');
    // To look for findings takes seconds.
    ctx.keepOpen();
    try {
      return await answerHttp(ctx.request, message, {
        tools: toolsFor(tools, caller, ctx.url.searchParams.get('write') === '1'),
        use: (tool, args) => useTool(tool, args, asker),
      });
    } finally {
      ctx.closeWhenIdle();
    }
  };
  // Whoever only reads may ask: each tool's own endpoint judges what it changes.
  return [{ ...route, docs: { ...route.docs, only_reads: true }, run }];
}

/** A page of another site, or one whose name was made to lead here. Throws AppError `forbidden`. */
function refuseOtherSites({ ctx: { request, url }, deps: { config } }: Exchange): void {
  const ours = new URL(config.public_url);
  const host = nameOf(request.headers.get('host') ?? url.host);
  const is_ours = host === nameOf(ours.host) || (isLoopback(config.host) && isLoopback(host));
  if (!is_ours) throw forbidden(`Ask ${ours.origin}/mcp: this server has no other name.`);
  const origin = request.headers.get('origin');
  if (origin !== null && origin !== ours.origin) {
    throw forbidden(`This endpoint takes no request from a page of another site than ${ours.origin}.`);
  }
}

/** Without its port and brackets: a proxy may leave the port out. */
function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');
}

/** Throws AppError `unsupported_type` (415), `too_large` (413), and `unsupported` (400) for what is no message. */
async function readMessage(request: Request): Promise<object> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new AppError('unsupported_type', 'Send JSON, with the header Content-Type: application/json.');
  }
  const raw = await readSmallBody(request, MAX_MESSAGE_BYTES);
  try {
    return parseJsonObject(raw);
  } catch (cause) {
    throw new AppError('unsupported', 'Send one JSON-RPC message, a JSON object: batches are not taken.', {
      cause,
    });
  }
}
