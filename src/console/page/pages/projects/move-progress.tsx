/** How far an export, a check or an import has come, asked for while it goes on. */
import { useLoad } from '../../use-load.ts';

const LOOK_MS = 1000;

export function MoveProgress({ says }: { says: string }) {
  const { data } = useLoad('GET /project-files', {}, { every_ms: LOOK_MS });
  const percent = data?.under_way.percent ?? null;
  return (
    <div class="notice" role="status">
      <p>
        <strong>{says}</strong>
        {percent !== null && ` ${percent} %`} Stay on this page until it is done.
      </p>
      <progress aria-label={says} {...(percent === null ? {} : { value: percent, max: 100 })} />
    </div>
  );
}
