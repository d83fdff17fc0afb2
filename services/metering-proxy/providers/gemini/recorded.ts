/**
 * Exchanges with Gemini's API that others recorded, typed anew and shortened: only what we read is kept. Each names its file,
 * of packages/google/src/__fixtures__ in vercel/ai (Apache-2.0) unless it says otherwise.
 */

const said = (parts: object[], more: object = {}) => ({ content: { parts, role: 'model' }, index: 0, ...more })
const counted = (prompt: number, candidates: number, thoughts: number) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  totalTokenCount: prompt + candidates + thoughts,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  thoughtsTokenCount: thoughts,
})
const pro = (responseId: string) => ({ modelVersion: 'gemini-3-pro-preview', responseId })

/** google-text.chunks.txt */
export const textStream = [
  { candidates: [said([{ text: 'There are **3**' }])], usageMetadata: counted(9, 5, 185), ...pro('bH6LaZW8') },
  {
    candidates: [said([{ text: ' "r"s in strawberry.\n\nst**r**awbe**rr**y' }])],
    usageMetadata: counted(9, 23, 185),
    ...pro('bH6LaZW8'),
  },
  {
    candidates: [said([{ text: '', thoughtSignature: 'EqsFCqgF' }], { finishReason: 'STOP' })],
    usageMetadata: counted(9, 23, 185),
    ...pro('bH6LaZW8'),
  },
]

/** google-text.json */
export const textAnswer = {
  candidates: [
    said([{ text: "There are **3** r's in strawberry.", thoughtSignature: 'EtoFCtcF' }], { finishReason: 'STOP' }),
  ],
  usageMetadata: counted(9, 28, 244),
  ...pro('Un6LacrV'),
}

/** google-tool-call.chunks.txt: the whole call in one part, and the end in a chunk of its own. */
export const toolStream = [
  {
    candidates: [
      said([{ functionCall: { name: 'weather', args: { location: 'San Francisco' } }, thoughtSignature: 'EqUCCqIC' }]),
    ],
    usageMetadata: counted(29, 15, 45),
    ...pro('b36Lacjw'),
  },
  {
    candidates: [said([{ text: '' }], { finishReason: 'STOP' })],
    usageMetadata: counted(29, 15, 45),
    ...pro('b36Lacjw'),
  },
]

/** google-tool-call.json */
export const toolAnswer = {
  candidates: [
    said([{ functionCall: { name: 'weather', args: { location: 'San Francisco' } }, thoughtSignature: 'EskgCsYg' }], {
      finishReason: 'STOP',
      finishMessage: 'Model generated function call(s).',
    }),
  ],
  usageMetadata: counted(29, 15, 893),
  ...pro('m36LaZGy'),
}

const traffic = { usageMetadata: { trafficType: 'PROVISIONED_THROUGHPUT' }, responseId: '_vr4aYiW' }

/** google-stream-no-args-tool-call.chunks.txt, without its streamed arguments, which we never ask for; no index, no args. */
export const toolWithoutArgumentsStream = [
  { candidates: [{ content: { parts: [{ text: '**Processing**\n', thought: true }] } }], ...traffic },
  {
    candidates: [{ content: { parts: [{ functionCall: { name: 'read_theme' }, thoughtSignature: 'AY89a18a' }] } }],
    ...traffic,
  },
  {
    candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
    usageMetadata: counted(249, 58, 183),
    responseId: '_vr4aYiW',
  },
]

/** issue-16298-gemini3-parallel-tool-calls.json, its calls: only the first is signed. */
export const parallelAnswer = {
  candidates: [
    said(
      [
        {
          functionCall: { id: 'lpndqlku', name: 'get_weather', args: { city: 'Paris' } },
          thoughtSignature: 'AY89a19Y',
        },
        { functionCall: { id: 'm6rogicj', name: 'get_weather', args: { city: 'Tokyo' } } },
      ],
      { finishReason: 'STOP' },
    ),
  ],
  usageMetadata: counted(50, 30, 20),
  responseId: 'parallel',
}

/** gemma-4-output-usage.chunks.txt: thoughts are counted before there is any answer. */
export const thoughtsStream = [
  {
    candidates: [said([{ text: '*   User input: "Reply with exactly: hello"\n', thought: true }])],
    usageMetadata: { promptTokenCount: 6, totalTokenCount: 20, thoughtsTokenCount: 14 },
    responseId: '4HFfavXA',
  },
  { candidates: [said([{ text: 'hello' }])], usageMetadata: counted(6, 1, 76), responseId: '4HFfavXA' },
  {
    candidates: [said([{ text: '' }], { finishReason: 'STOP' })],
    usageMetadata: counted(6, 1, 76),
    responseId: '4HFfavXA',
  },
]

/** issue-19758-prompt-block.json and .chunks.txt */
export const blockedPrompt = {
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
  usageMetadata: {
    promptTokenCount: 9,
    totalTokenCount: 9,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
    serviceTier: 'standard',
  },
  modelVersion: 'gemini-3.7-flash',
  responseId: 'EXCPaojy',
}

/** google-usage-raw-live.chunks.txt: usage alone, after everything else. */
export const usageEvent = {
  usageMetadata: {
    promptTokenCount: 12,
    candidatesTokenCount: 71,
    totalTokenCount: 237,
    cachedContentTokenCount: 4,
    toolUsePromptTokenCount: 65,
    thoughtsTokenCount: 89,
  },
}

const failed = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, details },
})

/** google-429-retry-info.json */
export const quotaError = failed(
  429,
  'RESOURCE_EXHAUSTED',
  'You exceeded your current quota, please check your plan.',
  [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
  ],
)

/** issue-8943-gemini-2.5-pro-error.json */
export const refusedError = failed(400, 'INVALID_ARGUMENT', 'Penalty is not enabled for models/gemini-2.5-pro')

/** google-gemini/gemini-cli issue 6678: in an array, as streams have it. */
export const tooLongError = [
  failed(
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  ),
]
