/** Some of all projects there are, to be ticked; with many of them, a filter over their names. */
import { useId, useState } from 'preact/hooks';
import type { ProjectWithKeyCount } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { Loaded } from '../../components/page.tsx';
import { useAll } from '../../use-load.ts';

/** As many as are overlooked at a glance. */
const FEW = 8;

export function ProjectsField({ chosen }: { chosen: readonly string[] }) {
  const load = useAll('GET /projects', {});
  const wrong = useFieldErrors('projects');
  return (
    <fieldset class="field">
      <legend class="field-label">Projects</legend>
      <Loaded load={load}>{(projects) => <Choices projects={projects} chosen={chosen} />}</Loaded>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}

function Choices(props: { projects: readonly ProjectWithKeyCount[]; chosen: readonly string[] }) {
  const { projects, chosen } = props;
  const [typed, setTyped] = useState('');
  const id = useId();
  const wanted = typed.trim().toLowerCase();
  if (projects.length === 0) return <p class="muted">There is no project yet.</p>;
  return (
    <>
      {projects.length > FEW && (
        <input
          class="input"
          type="search"
          placeholder="Name or slug"
          aria-label="Filter the projects"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <div class="picks checks">
        {projects.map(({ public_id, name, slug }) => (
          // A project that the filter hides stays ticked.
          <div key={public_id} class="check" hidden={!`${name} ${slug}`.toLowerCase().includes(wanted)}>
            <input
              type="checkbox"
              id={`${id}-${public_id}`}
              name="projects"
              value={public_id}
              defaultChecked={chosen.includes(public_id)}
            />
            <label for={`${id}-${public_id}`}>{name}</label>
            <code class="hint">{slug}</code>
          </div>
        ))}
      </div>
    </>
  );
}
