// state that outlives a call
export { createMemoryStore } from './workflows/memory.ts'
export type { WorkflowChange, WorkflowKey, WorkflowRecord, WorkflowStore } from './workflows/store.ts'
export type {
  CreateWorkflowsOptions,
  OwnedWorkflows,
  SeenWorkflow,
  Workflow,
  WorkflowOptions,
  Workflows,
} from './workflows/workflows.ts'
export {
  WorkflowConflictError,
  WorkflowLimitError,
  WorkflowNotFoundError,
  createWorkflows,
} from './workflows/workflows.ts'
