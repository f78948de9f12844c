/** The latest in a project: the last failures, the last people on its lists, the last use of its keys. */
import type { ComponentChildren } from 'preact';
import type { Activity, ProjectWithKeys } from '../../api.generated.ts';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';

const MAX_KEYS = 6;

export function LastErrors({ slug, activity }: { slug: string; activity: Activity }) {
  const { last_errors } = activity;
  return (
    <Panel title="What failed last" flush={last_errors.length > 0}>
      {last_errors.length === 0 ? (
        <p class="muted">No mail of this project has failed or come back.</p>
      ) : (
        <Lines
          label="What failed last"
          of={last_errors.map(({ email_id, to: address, status, error, at }) => ({
            href: to`/projects/${slug}/emails/${email_id}`,
            title: address,
            note: <span class="cell-note">{error}</span>,
            status: <Status of={status} />,
            when: <Time at={at} />,
          }))}
        />
      )}
    </Panel>
  );
}

/** Nothing where nobody did. */
export function SignUps({ slug, activity: { sign_ups } }: { slug: string; activity: Activity }) {
  if (sign_ups.length === 0) return null;
  return (
    <Panel
      title="Who came last"
      actions={<a href={hrefOf(to`/projects/${slug}/contacts`)}>All contacts</a>}
      flush
    >
      <Lines
        label="Who came last"
        of={sign_ups.map(({ contact, email, list, status, at }) => ({
          href: to`/projects/${slug}/contacts/${contact}`,
          title: email,
          note: <span class="cell-note">{list}</span>,
          status: <Status of={status} />,
          when: <Time at={at} />,
        }))}
      />
    </Panel>
  );
}

export function KeysInUse({ project, activity }: { project: ProjectWithKeys; activity: Activity }) {
  const { slug, api_keys } = project;
  return (
    <Panel title="Keys" actions={<a href={hrefOf(to`/projects/${slug}/keys`)}>All keys</a>} flush>
      <Lines
        label="Keys"
        of={activity.keys.slice(0, MAX_KEYS).map(({ id, name, last_used_at }) => {
          const key = api_keys.find((each) => each.id === id);
          return {
            href: to`/projects/${slug}/keys/${id}`,
            title: name,
            note: key && <code class="cell-note">{key.key_prefix}…</code>,
            status: key?.is_active === false && <Status of="inactive" />,
            when: last_used_at === null ? 'not used yet' : <Time at={last_used_at} />,
          };
        })}
      />
      {activity.keys.length > MAX_KEYS && (
        <p class="table-foot">{counted(api_keys.length - MAX_KEYS, 'further key')}</p>
      )}
    </Panel>
  );
}

interface Line {
  /** A path below /console. */
  href: string;
  title: string;
  note: ComponentChildren;
  status: ComponentChildren;
  when: ComponentChildren;
}

function Lines({ label, of }: { label: string; of: readonly Line[] }) {
  return (
    <table aria-label={label}>
      <tbody>
        {of.map(({ href, title, note, status, when }) => (
          <tr key={href}>
            <td>
              <a class="row-link" href={hrefOf(href)}>
                {title}
              </a>
              {note}
            </td>
            <td class="number">
              {status}
              <span class="cell-note">{when}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
