/** Endpoints of saved templates. */
import { refuseRestricted, requirePermissions } from '../../platform/http/callers.ts';
import {
  bothPlanes,
  type ProjectCaller,
  Reply,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import {
  BODY_FIELDS,
  newTemplate,
  SUMMARY_FIELDS,
  templateCategories,
  templateChanges,
  templatePreview,
  templateRecord,
  templateSummaries,
} from './schemas.ts';
import type { Templates } from './service.ts';

const TAG = 'Email templates';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

/** Of a key; whoever manages the project may do so with its marketing too. */
function requireMarketing(caller: ProjectCaller): void {
  if (!caller.key) return;
  requirePermissions(caller.key, ['email_marketing']);
  refuseRestricted(caller.key);
}

/** The template that the path names, or 404. */
function loader(templates: Templates) {
  return ({ ctx, caller }: Target) => templates.get(caller.project.id, ctx.params.slug ?? '');
}

export function templateRoutes(templates: Templates): Route[] {
  return [...readingRoutes(templates), ...changingRoutes(templates)];
}

function readingRoutes(templates: Templates): Route[] {
  const load = loader(templates);
  return [
    ...bothPlanes({
      method: 'GET',
      path: '/emails/templates',
      mirror: {
        path: '/email-templates',
        response: templateSummaries,
        beside: { categories: templateCategories },
      },
      needs: ['read'],
      tag: TAG,
      summary: 'List templates',
      description:
        'All of the project, newest first, without their bodies; and the valid categories. The words of one broadcast or step ' +
        '(`is_own`) are among them `with_own` alone.',
      query: t.Object({ with_own: t.Optional(t.Boolean()) }),
      response: t.Object({ success: t.Boolean(), data: templateSummaries, categories: templateCategories }),
      handle: ({ caller, query: { with_own = false } }) => {
        const data = templates.list(caller.project.id, { with_own });
        const beside = { categories: SUMMARY_FIELDS.category.shape.enum };
        return caller.key ? { success: true, data, ...beside } : new Reply(200, data, {}, beside);
      },
    }),
    ...bothPlanes({
      method: 'GET',
      path: '/emails/templates/:slug',
      mirror: { path: '/email-templates/:slug' },
      needs: ['read'],
      tag: TAG,
      summary: 'One template with its bodies',
      response: templateRecord,
      handle: load,
    }),
    ...bothPlanes({
      method: 'POST',
      path: '/emails/templates/:slug/preview',
      mirror: { path: '/email-templates/:slug/preview' },
      may_take_long: true,
      only_reads: true,
      needs: ['read'],
      tag: TAG,
      summary: 'Render a template without sending it',
      description:
        'What a send with these variables would hold, inactive and marketing templates too, the latter in their ' +
        'layout. `missing` and `invalid` name what a send would be refused for; in its place stands the placeholder itself.',
      body: t.Object({
        variables: t.Optional(t.Record(t.String(), t.Unknown())),
        changes: t.Optional({ ...templateChanges, description: 'Shown as if they were saved.' }),
      }),
      example: { variables: { order_id: '1001', name: 'Ann' } },
      response: templatePreview,
      load,
      handle: ({ caller, body, resource }) =>
        templates.preview(caller.project.id, resource.slug, body.variables ?? {}, body.changes),
    }),
  ];
}

function changingRoutes(templates: Templates): Route[] {
  const load = loader(templates);
  // A marketing template is changed and deleted only by those who may make one.
  const loadForChange = (target: Target) => {
    const template = load(target);
    if (template.is_marketing) requireMarketing(target.caller);
    return template;
  };
  const authorizeBody = ({
    caller,
    sent,
  }: {
    caller: ProjectCaller;
    sent: Readonly<Record<string, unknown>>;
  }) => {
    if (sent.is_marketing === true) requireMarketing(caller);
  };
  return [
    ...bothPlanes({
      method: 'POST',
      path: '/emails/templates',
      mirror: { path: '/email-templates' },
      needs: ['write', 'email_template'],
      tag: TAG,
      summary: 'Create a template',
      description: 'A marketing template (`is_marketing`) also needs `can_manage_email_marketing`.',
      status: 201,
      body: newTemplate,
      example: {
        name: 'Order shipped',
        category: 'transactional',
        subject: 'Order {{ order_id }} is on its way',
        body_text: 'Hello {{ name }}, your order is on its way.',
        variables: [{ name: 'order_id', required: true }, { name: 'name' }],
      },
      response: templateRecord,
      authorizeBody,
      together: BODY_FIELDS,
      errorsIn: ({ caller, body }) => templates.errorsIn(caller.project.id, null, body),
      handle: ({ caller, body }) => templates.create(caller.project.id, body, caller.note),
    }),
    ...bothPlanes({
      method: 'PATCH',
      path: '/emails/templates/:slug',
      mirror: { path: '/email-templates/:slug' },
      needs: ['write', 'email_template'],
      tag: TAG,
      summary: 'Change a template',
      description:
        'Only what is sent changes; null clears an optional field, and one of the bodies must remain. `body_markdown` makes ' +
        'both bodies anew; a body that is sent, or null, ends the Markdown and leaves the other as it is. A slug in the ' +
        'body is ignored: it never changes. A marketing template also needs `can_manage_email_marketing`.',
      body: templateChanges,
      example: { subject: 'Your order {{ order_id }} is on its way' },
      response: templateRecord,
      authorizeBody,
      load: loadForChange,
      together: BODY_FIELDS,
      errorsIn: ({ caller, body, resource }) => templates.errorsIn(caller.project.id, resource, body),
      handle: ({ caller, body, resource }) =>
        templates.update(caller.project.id, resource.slug, body, caller.note),
    }),
    ...bothPlanes({
      method: 'DELETE',
      path: '/emails/templates/:slug',
      mirror: { path: '/email-templates/:slug' },
      needs: ['write', 'email_template'],
      tag: TAG,
      summary: 'Delete a template',
      description: 'Its slug is free again. Mails that were accepted are sent all the same.',
      response: t.Object({ success: t.Boolean(), message: t.String() }),
      load: loadForChange,
      handle: async ({ caller, resource }) => {
        await templates.remove(caller.project.id, resource.slug, caller.note);
        return { success: true, message: 'Template deleted.' };
      },
    }),
  ];
}
