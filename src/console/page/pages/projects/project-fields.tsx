/** The fields of a project, for making one and for changing it. */
import type { Project } from '../../api.generated.ts';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';

export function ProjectFields({ project }: { project?: Project }) {
  return (
    <>
      <TextField name="name" label="Name" value={project?.name} is_focused={!project} />
      <TextField
        name="slug"
        label="Slug"
        value={project?.slug}
        hint="How the command line and the API name the project. Left empty, it is made from the name."
        is_mono
      />
      {project && (
        <SelectField
          name="status"
          label="Status"
          value={project.status}
          hint="Nothing of an inactive project is sent: what falls due waits. Its keys are refused; its public files stay served."
          choices={[
            ['active', 'Active'],
            ['inactive', 'Inactive'],
          ]}
        />
      )}
      <TextAreaField name="description" label="Description" value={project?.description} rows={3} />
      <TextField
        name="primary_url"
        label="Web site"
        value={project?.primary_url}
        placeholder="https://shop.example.com"
      />
      <TextField
        name="platforms"
        label="Platforms"
        value={project?.platforms.join(', ')}
        placeholder="web, ios"
        hint="Separated by commas."
      />
    </>
  );
}
