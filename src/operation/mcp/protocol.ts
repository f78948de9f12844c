/** MCP itself, by its library. It is large: whatever serves tools loads this file when it does. */
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../../version.ts';
import { type Answer, NOTE } from './answers.ts';
import type { Tool } from './tools.ts';

/** The tools of one caller, and how one is used. */
export interface Toolbox {
  tools: readonly Tool[];
  use(tool: Tool, args: Readonly<Record<string, unknown>>): Promise<Answer>;
}

function serverOf({ tools, use }: Toolbox): Server {
  const server = new Server(
    { name: 'satchel', version: VERSION },
    {
      capabilities: { tools: {} },
      instructions: `Satchel: files, email, secrets and API keys of a small team. ${NOTE}`,
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, about, writes, input }) => ({
      name,
      description: about,
      inputSchema: input,
      annotations: { readOnlyHint: !writes, openWorldHint: false },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    const { text, is_refusal } = await use(tool, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError: is_refusal };
  });
  return server;
}

/** Answers one request, whose body is read. */
export async function answerHttp(request: Request, parsedBody: unknown, box: Toolbox): Promise<Response> {
  const handler = createMcpHandler(() => serverOf(box), { maxSubscriptions: 0 });
  const response = await handler.fetch(request, { parsedBody });
  // Older clients get a stream. Whole, it is in no way of a server that stops, and kept by nobody on its way.
  const type = response.headers.get('content-type');
  return new Response(await response.arrayBuffer(), {
    status: response.status,
    headers: type === null ? {} : { 'Content-Type': type },
  });
}

/** Serves stdin and stdout until stdin ends. */
export function serveShell(box: Toolbox): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdin.once('close', resolve).once('end', resolve);
  serveStdio(() => serverOf(box), { maxSubscriptions: 0 });
  return promise;
}
