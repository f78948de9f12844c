/** `satchel mcp`: the tools for an assistant on this machine, which starts it and speaks over stdin and stdout. */
import type { Config } from '../../config.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { type Actor, GRANTABLE, type ManagementCaller } from '../../platform/http/callers.ts';
import type { HttpDeps } from '../../platform/http/routes.ts';
import { refusalFor } from './answers.ts';
import { type Tool, toolsFor, useTool } from './tools.ts';

/** A Satchel that is asked as its server would be, by this caller. */
export interface Opened {
  tools: Tool[];
  deps: HttpDeps;
  close(): Promise<void>;
}

export function registerMcpCommand<S>(
  cli: Cli<S>,
  open: (config: Config, caller: ManagementCaller) => Promise<Opened>,
): void {
  cli
    .topVerb('mcp')
    .option('--write', 'let it change things, too: retry mail, pause and resume, make drafts')
    .remark(`A program that lets an assistant use tools starts this, speaks MCP with it over stdin and stdout, and ends it by closing
stdin. It works beside a running server and without one, with all rights of this shell; see https://HOST/docs/guide/mcp.
From elsewhere the same tools are at POST /mcp of the server, with an access token.`)
    .example('satchel mcp', 'satchel mcp --write')
    .action(
      cli.plainAction(async ({ config, actor, note }, options) => {
        // What goes there is the protocol's alone.
        cli.leaveStdout();
        const caller = shellAs(actor, options.write === true);
        const openHere = async (): Promise<Opened> => {
          const opened = await open(config, caller);
          return { ...opened, deps: { ...opened.deps, logger: tellErrors(opened.deps.logger, note) } };
        };
        // At once, so that what keeps it from working is told before anybody asks.
        const { tools, close } = await openHere();
        await close();
        const { serveShell } = await import('./protocol.ts');
        await serveShell({
          tools: toolsFor(tools, caller, options.write === true),
          use: (tool, args) => useOnce(tool.name, args, openHere),
        });
        return { json: null, text: '' };
      }),
    );
}

/** Opens for each use: between them a restore may replace the directory, and a server learns of a change at the close. */
async function useOnce(
  name: string,
  args: Readonly<Record<string, unknown>>,
  open: () => Promise<Opened>,
): ReturnType<typeof useTool> {
  try {
    const { tools, deps, close } = await open();
    try {
      const tool = tools.find((each) => each.name === name);
      if (!tool) throw new Error(`no tool is ${name}`);
      const request_id = newId(deps.clock.now());
      return await useTool(tool, args, { deps, authorization: null, request_id, ip: null, user_agent: null });
    } finally {
      await close();
    }
  } catch (error) {
    return refusalFor(error);
  }
}

/** What nobody foresaw is told to whoever looks at stderr, as a server tells its log. */
function tellErrors(logger: Logger, tell: (message: string) => void): Logger {
  return { ...logger, error: (message, fields) => tell(`satchel: ${message}: ${fields?.error}`) };
}

function shellAs(actor: Actor, may_write: boolean): ManagementCaller {
  return {
    kind: 'token',
    id: 0,
    name: actor.name,
    all_projects: true,
    project_ids: [],
    capabilities: new Set(GRANTABLE),
    read_only: !may_write,
    actor,
  };
}
