/** Two people write one mail: the second is told, looks at what the first has saved, and loses nothing. */
import type { ApiError } from '../../api.ts';
import { Loaded } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useLoad } from '../../use-load.ts';
import type { Writing } from './use-words.ts';
import { differences, draftedOf, TITLES, type Words } from './words.ts';

interface ConflictProps {
  project: string;
  slug: string;
  error: ApiError;
  writing: Writing;
  preheader: string | null;
}

export function Conflict({ project, slug, error, writing, preheader }: ConflictProps) {
  const path = { project, slug };
  const load = useLoad('GET /projects/{project}/email-templates/{slug}', { path });
  return (
    <div class="notice warn" role="alert">
      <p>
        <strong>Somebody else has changed this since you opened it.</strong> {error.message} What you wrote is
        still here.
      </p>
      <Who path={path} />
      <Loaded load={load}>
        {(template) => {
          const theirs = { template, etag: load.etag };
          return (
            <>
              <Differences theirs={draftedOf(template, preheader)} mine={writing.words.value} />
              <p class="row">
                <button type="button" class="button small" onClick={() => writing.keepMine(theirs)}>
                  Go on with mine
                </button>
                <button type="button" class="button small bad" onClick={() => writing.takeTheirs(theirs)}>
                  Take theirs, give mine up
                </button>
              </p>
              <p class="fine">
                Going on with yours keeps what you changed, takes over the rest of theirs, and replaces
                theirs.
              </p>
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

/** The newest change of the template that the audit trail has. */
function Who({ path }: { path: { project: string; slug: string } }) {
  const load = useLoad('GET /projects/{project}/audit', {
    path: { project: path.project },
    query: { event: 'template.changed' },
  });
  const last = load.data?.data.find(({ target }) => target === `template:${path.slug}`);
  return last ? (
    <p>
      Last saved by {last.actor_name}, <Time at={last.at} />.
    </p>
  ) : null;
}

function Differences({ theirs, mine }: { theirs: Words; mine: Words }) {
  const fields = differences(theirs, mine);
  if (fields.length === 0) return <p>Their version says the same as yours.</p>;
  return (
    <details class="more">
      <summary>Look at their version</summary>
      <div class="stack">
        {fields.map((field) => (
          <div key={field} class="columns">
            <div>
              <p class="field-label">{TITLES[field]}: theirs</p>
              <pre class="mail-text">{tell(theirs[field])}</pre>
            </div>
            <div>
              <p class="field-label">{TITLES[field]}: yours</p>
              <pre class="mail-text">{tell(mine[field])}</pre>
            </div>
          </div>
        ))}
      </div>
    </details>
  );
}

function tell(value: Words[keyof Words]): string {
  if (Array.isArray(value)) return value.map(({ name }) => name).join('\n');
  return typeof value === 'string' ? value : '—';
}
