/** The pages of the API reference: an overview that names every endpoint, and a page for each group. */
import { Html, html } from '../../platform/http/pages.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { exampleOf } from './curl-example.ts';
import { codeBlock, docsPage, joined } from './page-frame.ts';
import {
  type Address,
  type Group,
  membersOf,
  type Operation,
  type Reference,
  referenceHref,
  textOf,
} from './reference.ts';
import { markdown, Shapes } from './schema-words.ts';

export function overviewPage(reference: Reference): string {
  const groups = reference.groups.map(
    ({
      slug,
      name,
      description,
      operations,
    }) => html`<section id="/${encodeURIComponent(name)}" data-to="/docs/api/${slug}">
<h2><a href="/docs/api/${slug}">${name}</a></h2><p>${description}</p>
<ul class="endpoints">${joined(operations.map((operation) => lineOf(name, operation)))}</ul></section>`,
  );
  const content = html`<h1>API reference</h1>
${markdown(reference.description)}
<ul class="doors"><li><a href="/docs/guide/limits">Errors, pages and limits</a></li><li><a href="/docs/try">Requests to try in the page</a></li><li><a href="/docs/openapi.json">OpenAPI document</a></li><li><a href="/docs/satchel.ts">Client for TypeScript</a></li></ul>
${joined(groups)}`;
  const headings = reference.groups.map(({ name }) => ({ id: `/${encodeURIComponent(name)}`, title: name }));
  const [first] = reference.groups;
  const next = first && { href: `/docs/api/${first.slug}`, title: first.name };
  return docsPage(reference, { title: 'API reference', href: '/docs', content, headings, next });
}

/** Under the ids that links from the time of one long page name. */
function lineOf(group: string, { summary, addresses }: Operation): Html {
  const [first, ...others] = addresses;
  const old = (id: string): string => `/${encodeURIComponent(group)}/${id}`;
  const anchors = others.map(({ id }) => html`<i id="${old(id)}"></i>`);
  return html`<li id="${old(first.id)}" data-to="${referenceHref(group, first.id)}"><a href="${referenceHref(group, first.id)}">${badge(first.method)}<code>${joined(anchors)}${first.path}</code></a><span>${summary}</span></li>`;
}

export function groupPage(reference: Reference, group: Group, server_url: string): string {
  const shapes = new Shapes(reference);
  const operations = group.operations.map((operation) => section(shapes, operation, server_url));
  const named = shapes.sections();
  const content = html`<h1>${group.name}</h1><p class="lead">${group.description}</p>
${joined(operations)}
${named.length > 0 ? html`<h2 id="shapes">What is sent and answered</h2>` : ''}
${joined(named.map(({ name, content }) => html`<h3 id="${name}">${name}</h3>${content}`))}`;
  const at = reference.groups.indexOf(group);
  const [before, after] = [at > 0 ? reference.groups[at - 1] : undefined, reference.groups[at + 1]];
  const place = (of: Group | undefined) => of && { href: `/docs/api/${of.slug}`, title: of.name };
  return docsPage(reference, {
    title: group.name,
    href: `/docs/api/${group.slug}`,
    content,
    headings: [
      ...group.operations.map(({ summary, addresses: [first] }) => ({ id: first.id, title: summary })),
      ...(named.length > 0 ? [{ id: 'shapes', title: 'What is sent and answered' }] : []),
    ],
    previous: place(before) ?? { href: '/docs', title: 'Overview' },
    next: place(after),
  });
}

function section(shapes: Shapes, operation: Operation, server_url: string): Html {
  const { summary, description, addresses } = operation;
  const [first, ...others] = addresses;
  const body = bodyOf(shapes, first);
  const parameters = parametersOf(shapes, first);
  return html`<section class="operation">
<h2 id="${first.id}">${joined(others.map(({ id }) => html`<i id="${id}"></i>`))}${summary}</h2>
<ul class="addresses">${joined(addresses.map(addressLine))}</ul>
${markdown(description)}
${codeBlock(exampleOf(shapes, first, server_url))}
${parameters ? html`<h3>Parameters</h3>${parameters}` : ''}
${body ? html`<h3>Body</h3>${body}` : ''}
<h3>Answers</h3>
${answersOf(shapes, first)}
</section>`;
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: 'API key',
  access_token: 'Access token, or signed in',
  session: 'Signed in',
};

function addressLine({ method, path, needs, scheme }: Address): Html {
  const by = scheme === null ? 'Anybody' : (CREDENTIALS[scheme] ?? scheme);
  return html`<li>${badge(method)}<code>${path}</code><span>${by}${
    needs
      ? html`, needs ${new Html(
          markdown(needs)
            .text.replace(/<\/?p>/g, '')
            .trim(),
        )}`
      : ''
  }</span></li>`;
}

function badge(method: string): Html {
  return html`<b class="method ${method.toLowerCase()}">${method}</b>`;
}

/** Of every key, and told where keys are. */
const OF_EVERY_KEY = ['X-App-Id', 'X-Android-Cert'];

function parametersOf(shapes: Shapes, { operation }: Address): Html | null {
  const listed = Array.isArray(operation.parameters) ? operation.parameters : [];
  const told = listed
    .map((each) => shapes.resolve(each))
    .filter(({ name }) => !OF_EVERY_KEY.includes(textOf(name)));
  if (told.length === 0) return null;
  return shapes.list(
    told.map(({ name, schema, required, description, ...rest }) => ({
      name: textOf(name),
      schema,
      is_required: required === true,
      description: [rest.in === 'header' ? 'A header.' : '', textOf(description)]
        .filter((each) => each !== '')
        .join(' '),
    })),
    true,
  );
}

function bodyOf(shapes: Shapes, { operation }: Address): Html | null {
  const content = isPlainObject(operation.requestBody) ? operation.requestBody.content : undefined;
  const [media] = membersOf(content);
  if (!media) return null;
  const [type, { schema }] = [media[0], shapes.resolve(media[1])];
  const is_json = type === 'application/json';
  const { properties } = shapes.resolve(schema);
  return html`${is_json ? '' : html`<p><code>${type}</code></p>`}${isPlainObject(properties) ? shapes.fields(schema, true) : html`<p>${shapes.typeOf(schema)}</p>`}`;
}

function answersOf(shapes: Shapes, { operation }: Address): Html {
  const failures: Html[] = [];
  const lines: Html[] = [];
  for (const [status, told] of membersOf(operation.responses)) {
    const response = shapes.resolve(told);
    // Those of every endpoint are told once, in the guide; those of this one say why.
    if (isPlainObject(told) && '$ref' in told) {
      failures.push(html`<code>${status}</code>`);
      continue;
    }
    const description = textOf(response.description);
    const is_good = Number(status) < 300;
    const said = is_good && description === 'Success' ? html`` : markdown(description);
    lines.push(
      html`<dt><code>${status}</code>${is_good ? html` <span>${answerOf(shapes, response)}</span>` : ''}</dt><dd>${said}</dd>`,
    );
  }
  const also =
    failures.length > 0
      ? html`<p class="failures">As everywhere: <a href="/docs/guide/limits#errors">${joined(failures)}</a></p>`
      : '';
  return html`<dl class="fields">${joined(lines)}</dl>${also}`;
}

/** Tells the contents of an answer, out of its envelope. */
function answerOf(shapes: Shapes, { content }: Record<string, unknown>): Html {
  const [media] = membersOf(content);
  if (!media) return html`nothing`;
  const [type, { schema }] = [media[0], shapes.resolve(media[1])];
  if (type !== 'application/json') return type === '*/*' ? html`the bytes` : html`<code>${type}</code>`;
  const { properties } = isPlainObject(schema) ? schema : {};
  if (!isPlainObject(properties)) return shapes.typeOf(schema);
  const beside = Object.keys(properties).filter((name) => !['success', 'message', 'data'].includes(name));
  if (!('data' in properties)) return joined([html`object with `, codes(Object.keys(properties))]);
  const inner = isPlainObject(properties.data) && isPlainObject(properties.data.properties);
  return html`<code>data</code>: ${shapes.typeOf(properties.data)}${inner ? html` with ${codes(Object.keys(Object(properties.data).properties))}` : ''}${beside.length > 0 ? html`; beside it ${codes(beside)}` : ''}`;
}

function codes(names: readonly string[]): Html {
  return new Html(names.map((name) => html`<code>${name}</code>`.text).join(', '));
}
