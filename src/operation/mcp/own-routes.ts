/** What tools ask that no endpoint answers by itself. These stand in no list of routes: tools alone reach them. */
import { invalid } from '../../errors.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import { emailAddress, t, text } from '../../platform/http/schema.ts';

const MAX_WORDS_CHARS = 200;

interface Project {
  id: number;
  public_id: string;
}

/** What a template and the test of a draft have in common; a test takes no nulls. */
interface Written {
  subject: string;
  is_marketing: boolean;
  layout: 'marketing' | null;
  body_html: string | null;
  body_text: string | null;
  body_markdown: string | null;
}

type Declared = { name: string; description: string | null; required: boolean }[];

interface Draft {
  to: string;
  subject: string;
  is_marketing: boolean;
  layout?: 'marketing';
  body_html?: string;
  body_text?: string;
  body_markdown?: string;
  declared?: { name: string; description?: string; required?: boolean }[];
  variables: Record<string, unknown>;
}

/** What tools ask beside endpoints. */
export interface OwnServices {
  people: { hasActive(email: string, project_id: number): boolean };
  privacy: { explain(project: Project, address: string): Promise<string[]> };
  templates: { get(project_id: number, slug: string): Written & { variables: Declared } };
  previews: { sendTest(project: Project, draft: Draft, note: Note): Promise<object> };
}

export function ownRoutes(services: OwnServices): Route[] {
  return [addressRoute(services), testMailRoute(services)];
}

function addressRoute({ privacy }: OwnServices): Route {
  return projectRoute({
    method: 'POST',
    path: '/mcp/address',
    only_reads: true,
    tag: 'MCP',
    summary: 'Why an address is mailed or not',
    body: t.Object({ address: emailAddress() }),
    handle: async ({ caller, body: { address } }) => ({
      address,
      why: await privacy.explain(caller.project, address),
    }),
  });
}

function testMailRoute({ people, templates, previews }: OwnServices): Route {
  return projectRoute({
    method: 'POST',
    path: '/mcp/test-mail',
    may_take_long: true,
    tag: 'MCP',
    summary: 'Send a template as a test',
    body: t.Object({
      template: text({ min: 1, max: MAX_WORDS_CHARS, description: 'The slug of the template.' }),
      variables: t.Optional(
        t.Record(t.String(), t.Unknown(), { description: 'Values of placeholders, by name.' }),
      ),
      to: emailAddress(),
    }),
    handle({ caller, body: { template, variables = {}, to } }) {
      // Any other address would let whoever talks an assistant into it carry things away.
      if (!people.hasActive(to, caller.project.id)) {
        throw invalid({ to: ['must be the address of somebody who may sign in here and sees this project'] });
      }
      return previews.sendTest(
        caller.project,
        draftOf(templates.get(caller.project.id, template), { to, variables }),
        caller.note,
      );
    },
  });
}

function draftOf(
  { subject, is_marketing, layout, variables: declared, ...bodies }: Written & { variables: Declared },
  sent: Pick<Draft, 'to' | 'variables'>,
): Draft {
  const { body_markdown, body_html, body_text } = bodies;
  return {
    ...sent,
    subject,
    is_marketing,
    ...(layout && { layout }),
    // Both bodies are made from the Markdown where there is one.
    ...(body_markdown === null
      ? { ...(body_html !== null && { body_html }), ...(body_text !== null && { body_text }) }
      : { body_markdown }),
    declared: declared.map(({ name, description, required }) => ({
      name,
      required,
      ...(description !== null && { description }),
    })),
  };
}
