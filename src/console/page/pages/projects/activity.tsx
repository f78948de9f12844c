/** What happened in a project lately: what failed last, who came to a list last, and when its keys were used. */
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
        <table aria-label="What failed last">
          <tbody>
            {last_errors.map(({ email_id, to: address, status, error, at }) => (
              <tr key={email_id}>
                <td>
                  <a class="row-link" href={hrefOf(to`/projects/${slug}/emails/${email_id}`)}>
                    {address}
                  </a>
                  <span class="cell-note">{error}</span>
                </td>
                <td class="number">
                  <Status of={status} />
                  <span class="cell-note">
                    <Time at={at} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
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
      <table aria-label="Who came last">
        <tbody>
          {sign_ups.map(({ contact, email, list, status, at }) => (
            <tr key={contact}>
              <td>
                <a class="row-link" href={hrefOf(to`/projects/${slug}/contacts/${contact}`)}>
                  {email}
                </a>
                <span class="cell-note">{list}</span>
              </td>
              <td class="number">
                <Status of={status} />
                <span class="cell-note">
                  <Time at={at} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

export function KeysInUse({ project, activity }: { project: ProjectWithKeys; activity: Activity }) {
  const { slug, api_keys } = project;
  return (
    <Panel title="Keys" actions={<a href={hrefOf(to`/projects/${slug}/keys`)}>All keys</a>} flush>
      <table aria-label="Keys">
        <tbody>
          {activity.keys.slice(0, MAX_KEYS).map(({ id, name, last_used_at }) => {
            const key = api_keys.find((each) => each.id === id);
            return (
              <tr key={id}>
                <td>
                  <a class="row-link" href={hrefOf(to`/projects/${slug}/keys/${id}`)}>
                    {name}
                  </a>
                  {key && <code class="cell-note">{key.key_prefix}…</code>}
                </td>
                <td class="number">
                  {key?.is_active === false && <Status of="inactive" />}
                  <span class="cell-note">
                    {last_used_at === null ? 'not used yet' : <Time at={last_used_at} />}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {activity.keys.length > MAX_KEYS && (
        <p class="table-foot">{counted(api_keys.length - MAX_KEYS, 'further key')}</p>
      )}
    </Panel>
  );
}
