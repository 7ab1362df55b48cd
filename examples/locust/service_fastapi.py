"""The asynchronous service: one event loop for all requests. Its argument is the port."""

import sys

import uvicorn
from fastapi import FastAPI
from model import predict
from pydantic import BaseModel

app = FastAPI()


class Features(BaseModel):
    """What a prediction is made from."""

    features: list[float]


@app.post("/predict")
async def answer(asked: Features):
    """Predict from the posted features."""
    return predict(asked.features)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
