/**
 * Methods of the neutral model, which follows the modern revision. Methods that only another era has are named by the codec
 * and the session of that era.
 */
export const method = {
  discover: 'server/discover',
  listTools: 'tools/list',
  callTool: 'tools/call',
  listPrompts: 'prompts/list',
  getPrompt: 'prompts/get',
  listResources: 'resources/list',
  listResourceTemplates: 'resources/templates/list',
  readResource: 'resources/read',
  complete: 'completion/complete',
  listen: 'subscriptions/listen',
  /** What an ask may hold. */
  elicit: 'elicitation/create',
  createMessage: 'sampling/createMessage',
  listRoots: 'roots/list',
} as const

/** Notifications of the neutral model. */
export const notice = {
  cancelled: 'notifications/cancelled',
  progress: 'notifications/progress',
  message: 'notifications/message',
  acknowledged: 'notifications/subscriptions/acknowledged',
  toolsChanged: 'notifications/tools/list_changed',
  promptsChanged: 'notifications/prompts/list_changed',
  resourcesChanged: 'notifications/resources/list_changed',
  resourceUpdated: 'notifications/resources/updated',
} as const
