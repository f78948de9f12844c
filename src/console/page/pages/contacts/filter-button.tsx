/** Builds the filter of a list's contacts, which stands in the address beside what is searched for. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { setQuery, useQuery } from '../../router.ts';
import { type FilterParameters, filterIn, filterOf } from './filter.ts';
import { FilterFields } from './filter-fields.tsx';

export function FilterButton({ path }: { path: { project: string; list: string } }) {
  const now = filterIn(useQuery());
  const [built, setBuilt] = useState<FilterParameters | null>(null);
  const close = (): void => setBuilt(null);
  const show = async (): Promise<void> => {
    // What is no filter is told here, beside its field.
    const query = { ...filterOf(built ?? {}), per_page: 1 };
    await call('GET /projects/{project}/email-lists/{list}/contacts', { path, query });
    setQuery({ ...Object.fromEntries(Object.keys(now).map((name) => [name, ''])), ...built });
    close();
  };
  return (
    <>
      <button type="button" class="button" onClick={() => setBuilt(now)}>
        More filters
      </button>
      {built && (
        <Dialog title="Who is shown" onClose={close}>
          <p class="muted">All that you enter must hold.</p>
          <Form is_fleeting is_for_readers submit="Show them" onSubmit={show} onCancel={close}>
            <FilterFields list={path} of={built} onChange={setBuilt} is_of_address />
          </Form>
        </Dialog>
      )}
    </>
  );
}
