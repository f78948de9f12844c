/** What a project's marketing lacks before any of its mail can go out, above its lists, broadcasts and sequences. */
import { Icon } from '../../components/icon.tsx';
import { useLoad } from '../../use-load.ts';
import { tellLack } from './lacks.ts';
import { Mend } from './mend.tsx';

export function Lacking({ project }: { project: string }) {
  const { data } = useLoad('GET /projects/{project}/email-marketing/settings', { path: { project } });
  const lacks = data?.lacks ?? [];
  if (lacks.length === 0) return null;
  return (
    <section class="notice warn over-list" aria-label="What marketing lacks">
      <p>No newsletter and no sequence can go out yet:</p>
      <ul class="problems">
        {lacks.map((lack) => (
          <li key={lack.code}>
            <Icon name="warning" />
            <span>{tellLack(lack)}</span>
            <Mend project={project} code={lack.code} />
          </li>
        ))}
      </ul>
    </section>
  );
}
