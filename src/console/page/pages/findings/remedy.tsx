/** What mends a finding: the page where it is done, if there is one, and the command. */
import { Command } from '../../components/command.tsx';
import { wayOf } from '../../components/refusal.ts';
import { hrefOf } from '../../router.ts';

export function Remedy({ of }: { of: string }) {
  const page = wayOf(of, null);
  const is_command = /^[a-z]\S* /.test(of) && !of.includes(', ');
  return (
    <div class="row">
      {page && <a href={hrefOf(page.path)}>{page.label}</a>}
      {is_command ? <Command of={of} /> : <p class="muted said">{of}</p>}
    </div>
  );
}
