/** How a backup is restored: on the machine, as the server must not run meanwhile. */
import { Command } from '../../components/command.tsx';
import { Panel } from '../../components/panel.tsx';

export function GoingBack({ directory, name, title }: { directory: string; name: string; title: string }) {
  const path = `${directory}/${name}`;
  const word = /^[\w/.,+@=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return (
    <Panel
      title={title}
      lead="On the machine, with the server stopped, and the master key where it is now. What is there is kept in a folder beside; what would go out by itself waits until you let it go."
    >
      <Command of={`satchel restore ${word} --yes`} />
    </Panel>
  );
}
